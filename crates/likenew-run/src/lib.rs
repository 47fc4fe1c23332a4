//! The one loop: issue, submit, wait, record; and the conductor of procedures.
