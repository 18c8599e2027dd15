"""What the checks have in common: the scripted model's words, and where everything is (see ../js/support/stage.js)."""

import json
import os
import urllib.request

# Tools told natively, and tools told as text.
PATHS = ("native", "prompt")
GUARDED = os.environ["GUARDED_URL"] + "/v1"
KEYS = json.loads(os.environ["GUARDED_KEYS"])

SEARCH = {"call": ["search_web", {"query": "What is Lambda Chat?"}]}
WEATHER = {"call": ["get_weather", {"city": "Paris"}]}
SEARCHED = [[SEARCH], [{"think": "A page says it. "}, "A chat backend", " 🙂 [1]."]]


def words(*rounds):
    """The user's words that make the model answer so, reply by reply."""
    return json.dumps(rounds)


def release(key):
    """Lets the model go on that holds at `key`."""
    urllib.request.urlopen(f"{os.environ['MODEL_URL']}/release/{key}", timeout=20).close()


def left(key):
    """Waits until whoever asked the model has left while it holds at `key`."""
    urllib.request.urlopen(f"{os.environ['MODEL_URL']}/left/{key}", timeout=20).close()
