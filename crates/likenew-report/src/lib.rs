//! Verdicts, tables and series as terminal text, JSON and HTML.
