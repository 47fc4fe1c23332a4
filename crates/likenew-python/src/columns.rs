//! Columns in Arrow's memory format, handed to other libraries without copying through the Arrow PyCapsule interface.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int8Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, NullArray, RecordBatch,
    RecordBatchIterator, StringArray,
};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};
use likenew_core::findings::Row;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList};
use serde_json::Value;

use crate::{errors, wording};

/// The Python module that makes data frames.
const FRAMES: &str = "likenew.frames";

/// Columns of equal length. Any library that reads Arrow's C stream can read it: `pyarrow.table(t)`,
/// `polars.DataFrame(t)`, a query of DuckDB.
#[pyclass(frozen, module = "likenew")]
pub(crate) struct Table {
    batch: RecordBatch,
}

impl Table {
    /// Makes a table of named columns. Only a column that contains nulls is nullable.
    pub(crate) fn new(columns: Vec<(&str, ArrayRef)>) -> Self {
        if columns.is_empty() {
            return Self { batch: RecordBatch::new_empty(Arc::new(Schema::empty())) };
        }
        let fields = columns
            .iter()
            .map(|(name, values)| Field::new(*name, values.data_type().clone(), values.is_nullable()));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let values = columns.into_iter().map(|(_, values)| values).collect();
        let batch = RecordBatch::try_new(schema, values).expect("columns are equally long");
        Self { batch }
    }

    /// Makes a table of a findings table's rows. Columns of numbers, texts or booleans get these types, others JSON.
    pub(crate) fn from_rows(rows: &[Row]) -> Self {
        let mut names: Vec<&str> = Vec::new();
        for key in rows.iter().flat_map(Row::keys) {
            if !names.contains(&key.as_str()) {
                names.push(key);
            }
        }
        Self::new(names.iter().map(|name| (*name, column(rows, name))).collect())
    }

    /// Adds a column before the others.
    pub(crate) fn with_first(&self, name: &str, values: ArrayRef) -> Self {
        let schema = self.batch.schema();
        let own =
            schema.fields().iter().map(|field| field.name().as_str()).zip(self.batch.columns().to_vec());
        Self::new(std::iter::once((name, values)).chain(own).collect())
    }

    pub(crate) fn batch(&self) -> &RecordBatch {
        &self.batch
    }
}

impl From<RecordBatch> for Table {
    fn from(batch: RecordBatch) -> Self {
        Self { batch }
    }
}

#[pymethods]
impl Table {
    /// Reads a stream in Arrow's IPC format, as pickle stores it.
    #[new]
    fn from_stream(stream: &[u8]) -> PyResult<Self> {
        let batch = StreamReader::try_new(stream, None).and_then(|mut batches| batches.next().transpose());
        let batch = batch.map_err(errors::unfinished)?;
        Ok(Self { batch: batch.ok_or_else(|| errors::usage(wording::EMPTY_STREAM))? })
    }

    /// Reads rows from JSON: a list of objects.
    #[staticmethod]
    #[pyo3(name = "from_rows")]
    fn from_json(rows: &str) -> PyResult<Self> {
        let rows: Vec<Row> = serde_json::from_str(rows).map_err(errors::usage)?;
        Ok(Self::from_rows(&rows))
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>,)> {
        let stream = || -> Result<Vec<u8>, ArrowError> {
            let mut writer = StreamWriter::try_new(Vec::new(), &self.batch.schema())?;
            writer.write(&self.batch)?;
            writer.into_inner()
        };
        Ok((PyBytes::new(py, &stream().map_err(errors::unfinished)?),))
    }

    /// Names of the columns, from left to right.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        let columns = self.column_names().join(", ");
        format!("<likenew.Table: {} rows of {columns}>", self.batch.num_rows())
    }

    /// One column as a list.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let column = self.batch.column_by_name(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        list(py, column)
    }

    /// All columns as lists by name.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (field, column) in self.batch.schema().fields().iter().zip(self.batch.columns()) {
            columns.set_item(field.name(), list(py, column)?)?;
        }
        Ok(columns)
    }

    /// All rows as dicts.
    fn to_rows<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let rows: Vec<Bound<'py, PyDict>> = (0..self.batch.num_rows()).map(|_| PyDict::new(py)).collect();
        for (field, column) in self.batch.schema().fields().iter().zip(self.batch.columns()) {
            for (row, value) in rows.iter().zip(list(py, column)?.try_iter()?) {
                row.set_item(field.name(), value?)?;
            }
        }
        Ok(rows)
    }

    /// The columns as a pandas data frame; needs pandas and PyArrow.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import(FRAMES)?.call_method1("to_pandas", (slf,))
    }

    /// The columns as a Polars data frame; needs Polars.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import(FRAMES)?.call_method1("to_polars", (slf,))
    }

    /// The schema, for the Arrow PyCapsule interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref());
        let schema = schema.map_err(|error| PyValueError::new_err(error.to_string()))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The columns, for the Arrow PyCapsule interface, in their own types whatever is requested.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }
}

/// A column with few different texts, each stored once.
pub(crate) fn words<'a>(values: impl Iterator<Item = &'a str>) -> ArrayRef {
    Arc::new(values.collect::<DictionaryArray<Int8Type>>())
}

fn column(rows: &[Row], name: &str) -> ArrayRef {
    let values: Vec<Option<&Value>> =
        rows.iter().map(|row| row.get(name).filter(|value| !value.is_null())).collect();
    let are_all = |is_kind: fn(&Value) -> bool| values.iter().flatten().all(|value| is_kind(value));
    if values.iter().all(Option::is_none) {
        Arc::new(NullArray::new(rows.len()))
    } else if are_all(Value::is_i64) {
        Arc::new(values.iter().map(|value| value.and_then(Value::as_i64)).collect::<Int64Array>())
    } else if are_all(Value::is_number) {
        Arc::new(values.iter().map(|value| value.and_then(Value::as_f64)).collect::<Float64Array>())
    } else if are_all(Value::is_boolean) {
        Arc::new(values.iter().map(|value| value.and_then(Value::as_bool)).collect::<BooleanArray>())
    } else if are_all(Value::is_string) {
        Arc::new(values.iter().map(|value| value.and_then(Value::as_str)).collect::<StringArray>())
    } else {
        Arc::new(values.iter().map(|value| value.map(ToString::to_string)).collect::<StringArray>())
    }
}

fn list<'py>(py: Python<'py>, column: &ArrayRef) -> PyResult<Bound<'py, PyAny>> {
    let list = match column.data_type() {
        DataType::Null => {
            PyList::new(py, std::iter::repeat_n((), column.len()).map(|()| py.None()).collect::<Vec<_>>())?
        }
        DataType::UInt32 => PyList::new(py, column.as_primitive::<UInt32Type>().iter())?,
        DataType::UInt64 => PyList::new(py, column.as_primitive::<UInt64Type>().iter())?,
        DataType::Int64 => PyList::new(py, column.as_primitive::<Int64Type>().iter())?,
        DataType::Float64 => PyList::new(py, column.as_primitive::<Float64Type>().iter())?,
        DataType::Boolean => PyList::new(py, column.as_boolean().iter().collect::<Vec<_>>())?,
        DataType::Utf8 => PyList::new(py, column.as_string::<i32>().iter().collect::<Vec<_>>())?,
        DataType::Dictionary(..) => {
            let words = column.as_dictionary::<Int8Type>();
            let words = words.downcast_dict::<StringArray>().expect("words are text");
            PyList::new(py, words.into_iter().collect::<Vec<_>>())?
        }
        other => unreachable!("no column is {other}"),
    };
    Ok(list.into_any())
}
