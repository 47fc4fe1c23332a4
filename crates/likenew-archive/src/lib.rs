//! A run is a folder.
