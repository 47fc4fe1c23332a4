"""Reads a dashboard with Grafana's own types, and fails if these know less than what the file says."""

import json
import sys

from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard


def lost(before, after, path=""):
    """The places at which something is gone or another value."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            if key in after:
                yield from lost(value, after[key], f"{path}/{key}")
            else:
                yield f"{path}/{key}"
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (value, kept) in enumerate(zip(before, after)):
            yield from lost(value, kept, f"{path}/{index}")
    elif before != after:
        yield path


plugins.register_default_plugins()
with open(sys.argv[1], encoding="utf-8") as file:
    written = json.load(file)
known = json.loads(JSONEncoder().encode(Dashboard.from_json(written)))
unknown = list(lost(written, known))
if unknown:
    sys.exit(f"{sys.argv[1]}: Grafana does not know {', '.join(unknown)}")
