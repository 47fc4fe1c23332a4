//! Numbers in, estimates out.
