"""Shared by the tests: scripts for the scripted model, and the environment (see ../js/support/stage.js)."""

import json
import os
import urllib.request

# The models: one with native tools, one with tools in the prompt.
PATHS = ("native", "prompt")
GUARDED = os.environ["GUARDED_URL"] + "/v1"
KEYS = json.loads(os.environ["GUARDED_KEYS"])

SEARCH = {"call": ["search_web", {"query": "What is Lambda Chat?"}]}
WEATHER = {"call": ["get_weather", {"city": "Paris"}]}
SEARCHED = [[SEARCH], [{"think": "A page says it. "}, "A chat backend", " 🙂 [1]."]]


def script(*rounds):
    """The user message that makes the model send these replies, one per round."""
    return json.dumps(rounds)


def release(key):
    """Releases the model's reply that is held at `key`."""
    urllib.request.urlopen(f"{os.environ['MODEL_URL']}/release/{key}", timeout=20).close()


def wait_for_disconnect(key):
    """Waits until the server closes the connection of the reply that is held at `key`."""
    urllib.request.urlopen(f"{os.environ['MODEL_URL']}/disconnected/{key}", timeout=20).close()
