//! Builds messages as clients send them.

use crate::protocol::{OPTION_MAGIC, REQUEST_MAGIC};
use crate::request::Header;

pub(super) fn flags(flags: u32) -> Vec<u8> {
    flags.to_be_bytes().to_vec()
}

pub(super) fn option(option: u32, data: &[u8]) -> Vec<u8> {
    [&OPTION_MAGIC.to_be_bytes()[..], &option.to_be_bytes(), &(data.len() as u32).to_be_bytes(), data]
        .concat()
}

/// The data of INFO and GO.
pub(super) fn info(name: &str, kinds: &[u16]) -> Vec<u8> {
    let kinds_bytes: Vec<u8> = kinds.iter().flat_map(|kind| kind.to_be_bytes()).collect();
    [&with_length(name)[..], &(kinds.len() as u16).to_be_bytes(), &kinds_bytes].concat()
}

/// The data of options about metadata contexts.
pub(super) fn contexts(name: &str, queries: &[&str]) -> Vec<u8> {
    let queries_bytes: Vec<u8> = queries.iter().flat_map(|query| with_length(query)).collect();
    [&with_length(name)[..], &(queries.len() as u32).to_be_bytes(), &queries_bytes].concat()
}

pub(super) fn request(header: &Header) -> Vec<u8> {
    let Header { flags, kind, cookie, offset, length } = header;
    [
        &REQUEST_MAGIC.to_be_bytes()[..],
        &flags.to_be_bytes(),
        &kind.to_be_bytes(),
        &cookie.to_be_bytes(),
        &offset.to_be_bytes(),
        &length.to_be_bytes(),
    ]
    .concat()
}

fn with_length(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_be_bytes()[..], text.as_bytes()].concat()
}
