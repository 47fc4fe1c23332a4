//! The page, and what a browser may do with it.

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// The page with the policy that lets nothing run but what is in it.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) html: Bytes,
    pub(crate) headers: HeaderMap,
}

impl Page {
    /// Of one file with its scripts and styles inside.
    pub(crate) fn new(html: String) -> Self {
        let hashes = |tag: &str| -> String {
            inline(&html, tag)
                .map(|text| format!(" 'sha256-{}'", STANDARD.encode(Sha256::digest(text))))
                .collect()
        };
        let policy = [
            "default-src 'none'".to_owned(),
            format!("script-src{}", hashes("script")),
            format!("style-src{}", hashes("style")),
            ["img-src", "'self'", "data:", "blob:"].join(" "),
            "connect-src 'self'".to_owned(),
            "base-uri 'none'".to_owned(),
            "form-action 'none'".to_owned(),
            "frame-ancestors 'none'".to_owned(),
        ]
        .join("; ");
        let mut headers = HeaderMap::new();
        let mut put = |name: HeaderName, value: &str| {
            headers.insert(name, HeaderValue::from_str(value).expect("it is plain ASCII"));
        };
        put(header::CONTENT_TYPE, "text/html; charset=utf-8");
        put(header::CONTENT_SECURITY_POLICY, &policy);
        Self { html: html.into(), headers }
    }
}

/// What each element with this tag holds. Blocks of data are no scripts.
fn inline<'a>(html: &'a str, tag: &'a str) -> impl Iterator<Item = &'a str> {
    let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
    let mut rest = html;
    std::iter::from_fn(move || {
        loop {
            let (_, begun) = rest.split_once(&*open)?;
            let (attributes, content) = begun.split_once('>')?;
            let (content, after) = content.split_once(&*close)?;
            rest = after;
            let is_tag = attributes.is_empty() || attributes.starts_with([' ', '\n']);
            if is_tag && !attributes.contains("application/json") {
                return Some(content);
            }
        }
    })
}

/// Headers of every answer.
pub(crate) const ALWAYS: [(HeaderName, HeaderValue); 6] = [
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_script_and_style_has_its_hash_and_no_other_may_run() {
        let html = "<html><style rel=x>a{}</style><script type=\"module\">let a = 1;</script>\
                    <script type=\"application/json\">[1]</script><scripted>no</scripted></html>";
        let policy =
            Page::new(html.to_owned()).headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
        let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
        assert!(policy.contains(&format!("script-src {};", hash("let a = 1;"))), "{policy}");
        assert!(policy.contains(&format!("style-src {};", hash("a{}"))), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
    }
}
