//! refreshed
