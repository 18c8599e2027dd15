"""The published packages `openai` and `openai-agents` over `/v1/responses`, with a scripted model."""

import asyncio
import json
import unittest

import openai
from agents import Agent, ModelSettings, Runner, function_tool, set_tracing_disabled
from openai import OpenAI
from pydantic import BaseModel
from scripted import GUARDED, KEYS, PATHS, SEARCHED, WEATHER, script

TOOL = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather in a city now.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "strict": False,
}

client = OpenAI(max_retries=0)
# The agents keep one client, whose connections are of one loop.
loop = asyncio.new_event_loop()
set_tracing_disabled(True)


class Location(BaseModel):
    city: str


def on_both_paths(test):
    """Runs a test with both models."""

    def both(self):
        for model in PATHS:
            with self.subTest(model):
                test(self, model)

    return both


class Responses(unittest.TestCase):
    @on_both_paths
    def test_answer_has_searches_and_citations(self, model):
        response = client.responses.create(model=model, input=script(*SEARCHED))
        self.assertEqual((response.status, response.output_text), ("completed", "A chat backend 🙂 [1]."))
        kinds = [item.type for item in response.output]
        self.assertEqual(kinds, ["web_search_call", "reasoning", "message"])
        cited = response.output[2].content[0].annotations[0]
        self.assertEqual(response.output_text[cited.start_index : cited.end_index], "[1]")
        self.assertEqual((response.usage.input_tokens, response.usage.output_tokens), (222, 14))
        stored = client.responses.retrieve(response.id)
        # The answer is stored before its last byte leaves.
        self.assertIn(response.completed_at - stored.completed_at, (0, 1))
        response.completed_at = stored.completed_at
        self.assertEqual(stored, response)

    @on_both_paths
    def test_stream_equals_stored_response(self, model):
        with client.responses.stream(model=model, input=script(*SEARCHED)) as stream:
            events = list(stream)
            final = stream.get_final_response()
        self.assertEqual([event.sequence_number for event in events], list(range(len(events))))
        stored = client.responses.retrieve(final.id)
        self.assertEqual((stored.output_text, stored.usage), (final.output_text, final.usage))
        rest = list(client.responses.retrieve(final.id, stream=True, starting_after=5))
        self.assertEqual([event.sequence_number for event in rest], list(range(6, len(events))))
        self.assertEqual([event.type for event in rest], [event.type for event in events[6:]])

    @on_both_paths
    def test_function_result_continues_the_response(self, model):
        text = script([WEATHER], ["It is sunny."])
        first = client.responses.create(model=model, input=text, tools=[TOOL])
        [call] = [item for item in first.output if item.type == "function_call"]
        self.assertEqual((call.name, json.loads(call.arguments)), ("get_weather", {"city": "Paris"}))
        output = [{"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}]
        second = client.responses.create(model=model, input=output, tools=[TOOL], previous_response_id=first.id)
        self.assertEqual(second.output_text, "It is sunny.")
        kept = [{"role": "user", "content": text}, *first.output, *output]
        again = client.responses.create(model=model, input=kept, tools=[TOOL], store=False)
        self.assertEqual(again.output_text, "It is sunny.")

    def test_parsed_format_and_deletion(self):
        text = script(['{"city": "Paris"}'])
        parsed = client.responses.parse(model="native", input=text, text_format=Location)
        self.assertEqual(parsed.output_parsed, Location(city="Paris"))
        client.responses.delete(parsed.id)
        with self.assertRaises(openai.NotFoundError):
            client.responses.retrieve(parsed.id)
        with self.assertRaises(openai.BadRequestError) as raised:
            client.responses.create(model="native", input="hi", previous_response_id=parsed.id)
        self.assertEqual(raised.exception.code, "previous_response_not_found")

    def test_other_owner_finds_nothing(self):
        keys = ("responses-one", "responses-other")
        one, other = (OpenAI(base_url=GUARDED, api_key=KEYS[key], max_retries=0) for key in keys)
        response = one.responses.create(model="native", input="Say hello.")
        for request in (other.responses.retrieve, other.responses.cancel, other.responses.delete):
            with self.assertRaises(openai.NotFoundError):
                request(response.id)


class Agents(unittest.TestCase):
    @on_both_paths
    def test_agent_runs_its_function(self, model):
        cities = []

        @function_tool
        def get_weather(city: str) -> str:
            """The weather in a city now."""
            cities.append(city)
            return "sunny"

        agent = Agent(name="Weather", model=model, tools=[get_weather], model_settings=ModelSettings(store=False))
        text = script([WEATHER], ["It is sunny."])
        result = loop.run_until_complete(Runner.run(agent, text))
        self.assertEqual((result.final_output, cities), ("It is sunny.", ["Paris"]))

    def test_streamed_run_has_the_whole_answer(self):
        async def run():
            agent = Agent(name="Searcher", model="native")
            result = Runner.run_streamed(agent, script(*SEARCHED))
            deltas = [
                event.data.delta
                async for event in result.stream_events()
                if event.type == "raw_response_event" and event.data.type == "response.output_text.delta"
            ]
            return result.final_output, "".join(deltas)

        final, streamed = loop.run_until_complete(run())
        self.assertEqual((final, streamed), ("A chat backend 🙂 [1].",) * 2)
