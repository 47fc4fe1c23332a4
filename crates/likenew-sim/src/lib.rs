//! A simulated drive made of layers in virtual time.
