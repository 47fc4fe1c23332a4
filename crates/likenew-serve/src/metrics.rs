//! Which media type a reader of metrics gets.

use axum::http::{HeaderMap, header};
use likenew_metrics::{FORMATS, MediaType};

/// The one that `Accept` weighs most, and of equal ones the better. A reader that accepts neither gets plain text.
pub(crate) fn media_type(headers: &HeaderMap) -> MediaType {
    let accepted: Vec<&str> =
        headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok()).collect();
    let ranges: Vec<Range<'_>> = accepted.iter().flat_map(|line| line.split(',')).map(Range::new).collect();
    let weight = |format: &MediaType| {
        let named = ranges.iter().filter(|range| range.essence == format.essence);
        named.map(|range| range.weight).fold(0.0, f64::max)
    };
    let [better, plain] = FORMATS;
    if weight(&better) > 0.0 && weight(&better) >= weight(&plain) { better } else { plain }
}

/// A part of `Accept`: `text/plain;version=0.0.4;q=0.5`.
struct Range<'a> {
    essence: &'a str,
    weight: f64,
}

impl<'a> Range<'a> {
    fn new(text: &'a str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let essence = parts.next().unwrap_or_default();
        let weight = parts.find_map(|part| part.strip_prefix("q=")).map_or(Some(1.0), |q| q.parse().ok());
        Self { essence, weight: weight.unwrap_or_default() }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    /// What Prometheus 2.42 sends.
    const PROMETHEUS: &str = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
        text/plain;version=0.0.4;q=0.5,*/*;q=0.1";

    #[test]
    fn the_type_is_the_one_that_the_reader_weighs_most() {
        let essence = |accept: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for line in accept {
                headers.append(header::ACCEPT, HeaderValue::from_static(line));
            }
            media_type(&headers).essence
        };
        let (openmetrics, plain) = ("application/openmetrics-text", "text/plain");
        assert_eq!(essence(&[PROMETHEUS]), openmetrics);
        assert_eq!(essence(&["text/plain", "application/openmetrics-text; version=1.0.0"]), openmetrics);
        assert_eq!(essence(&["application/openmetrics-text;q=0.4, text/plain;q=0.5"]), plain);
        assert_eq!(essence(&["application/openmetrics-text;q=0"]), plain);
        assert_eq!(essence(&["application/openmetrics-text;q=much"]), plain);
        for other in [&[][..], &["*/*"], &["text/html"], &[",;q=,;"]] {
            assert_eq!(essence(other), plain, "{other:?}");
        }
    }
}
