// The setup guide: three steps from the demo to a real model, and a check whether it works.

import { useSignal } from "@preact/signals";

import { readAuthentication } from "../api/credential.ts";
import { t } from "../i18n/index.ts";
import { Select } from "../settings/select.tsx";
import { Button, CopyButton } from "../view/controls.tsx";
import { showDialog } from "../view/dialog.ts";
import { commandsFor, type Platform, type Provider } from "./commands.ts";
import { ModelCheck } from "./model-check.tsx";
import { texts } from "./texts.ts";

const PROVIDERS: readonly Provider[] = ["bedrock", "anthropic", "gemini", "ark", "openai", "ollama"];
const PLATFORMS: readonly Platform[] = ["laptop", "lambda"];

/** Opens the guide. */
export async function openGuide(): Promise<void> {
  const platform: Platform = (await readAuthentication())?.onLambda ? "lambda" : "laptop";
  if (document.getElementById("setup-dialog")) return;
  showDialog({ id: "setup-dialog", title: t.demo.more, content: <Guide initial={platform} /> });
}

function Guide({ initial }: { initial: Platform }) {
  const platform = useSignal(initial);
  // On AWS the role of the function reaches Bedrock's models without a key.
  const provider = useSignal<Provider>(initial === "lambda" ? "bedrock" : t.locale === "zh-CN" ? "ark" : "openai");
  const [on, from] = [platform.value, provider.value];
  const commands = commandsFor(from, on);
  const bedrock = from === "bedrock" ? texts.bedrockText[on] : null;
  const where = on === "laptop" ? texts.inTerminal : from === "ollama" ? texts.ollamaText : texts.inParameters;
  return (
    <>
      <p>{texts.intro}</p>
      <Select
        id="setup-bedrock"
        label={texts.provider}
        options={PROVIDERS.map((id) => [id, texts.providers[id]])}
        selected={from}
        onSelect={(id) => (provider.value = id as Provider)}
      />
      <Select
        id="setup-laptop"
        label={texts.platform}
        options={PLATFORMS.map((id) => [id, texts.platforms[id]])}
        selected={on}
        onSelect={(id) => (platform.value = id as Platform)}
      />
      <ol class="steps-guide">
        <Step title={texts.modelStep} text={bedrock ?? where} commands={commands.model} kind="primary" />
        <Step title={texts.searchStep} text={bedrock ? texts.awsSearchText : texts.searchText} commands={commands.search} />
        <Step title={texts.startStep[on]} text="" commands={commands.start} />
      </ol>
      {on === initial && <ModelCheck><Button kind="primary" onClick={() => location.reload()}>{texts.reload}</Button></ModelCheck>}
    </>
  );
}

function Step({ title, text, commands, kind = "quiet" }: { title: string; text: string; commands: string; kind?: string }) {
  return (
    <li>
      <div class="step-head">
        <h3>{title}</h3>
        <CopyButton kind={kind} text={commands} aria-label={t.labelled(texts.copy, title)} />
      </div>
      {text && <p>{text}</p>}
      <pre><code>{commands}</code></pre>
    </li>
  );
}
