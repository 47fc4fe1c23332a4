//! The tables of documents as CSV (RFC 4180), for a spreadsheet. Columns have the same names as in JSON, which end with the unit.

use indexmap::IndexMap;
use likenew_core::findings::Row;
use serde_json::Value;

use crate::column::keys;
use crate::labeled_document::LabeledDocument;

/// The first column of a table with rows of several documents: their labels.
const LABEL_COLUMN: &str = "target";

/// Each table with its name. Tables of the same name are joined, one below the other, and each row has the label of its document.
///
/// # Panics
/// Never: memory takes everything.
pub fn csv(documents: &[LabeledDocument]) -> Vec<(String, String)> {
    let mut tables: IndexMap<&str, Vec<(&str, &Row)>> = IndexMap::new();
    for LabeledDocument { label, document, .. } in documents {
        for (name, rows) in &document.tables {
            tables.entry(name).or_default().extend(rows.iter().map(|row| (label.as_str(), row)));
        }
    }
    let is_several = documents.len() > 1;
    tables.into_iter().map(|(name, rows)| (name.to_owned(), table(&rows, is_several))).collect()
}

fn table(rows: &[(&str, &Row)], is_several: bool) -> String {
    let keys = keys(rows.iter().map(|(_, row)| *row));
    let mut writer = csv::Writer::from_writer(Vec::new());
    let head = is_several.then_some(LABEL_COLUMN).into_iter().chain(keys.iter().map(String::as_str));
    writer.write_record(head).expect("memory takes everything");
    for (label, row) in rows {
        let cells = keys.iter().map(|key| row.get(key).map_or_else(String::new, cell));
        let label = is_several.then(|| (*label).to_owned());
        writer.write_record(label.into_iter().chain(cells)).expect("each row has all columns");
    }
    let bytes = writer.into_inner().expect("memory takes everything");
    String::from_utf8(bytes).expect("it was made of text")
}

/// A cell's text; empty if the value is unknown.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_table_has_all_columns_of_its_rows_and_quotes_what_has_to_be() {
        let rows = [json!({"name": "a, \"b\"", "ns": 1.5}), json!({"name": null, "extra": [1, 2]})];
        let rows: Vec<Row> = rows.into_iter().map(|row| row.as_object().unwrap().clone()).collect();
        let labeled: Vec<(&str, &Row)> = ["A", "B"].into_iter().zip(&rows).collect();
        assert_eq!(table(&labeled, false), "name,ns,extra\n\"a, \"\"b\"\"\",1.5,\n,,\"[1,2]\"\n");
        assert!(table(&labeled, true).starts_with("target,name,ns,extra\nA,"));
    }
}
