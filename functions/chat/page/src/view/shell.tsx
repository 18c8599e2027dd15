// The frame of the page: list, header, message area and composer, in the page's language.
//
// The chat writes into `#messages`, the message box and its surroundings itself, and removes `data-empty` with the first message; no
// component renders their content.

import { effect, signal } from "@preact/signals";
import { render, type FunctionComponent } from "preact";
import { useRef } from "preact/hooks";

import { t } from "../i18n/index.ts";
import { actionsOf } from "../list/actions.ts";
import { ConversationList, SearchBox, showArchive } from "../list/conversations.tsx";
import { loadLibrary } from "../parts/load.ts";
import { attachFiles, openPalette, openSettings, removeConversation } from "../parts/use.ts";
import { agent, agents, canSearch, isDemo, model, modelLabel, models, SEARCH_MODES, searchMode, selectDemoAgent, setAgent, setDefaultModel, setSearchMode, takesFiles } from "../state/choice.ts";
import { isNarrow, isSidebarMoving, isSidebarOpen, setSidebar } from "../state/drawer.ts";
import { openConversation, title } from "../state/lists.ts";
import { isTemporary, openId, startNew } from "../state/open.ts";
import { isDark, toggleTheme } from "../state/theme.ts";
import { ActionMenu } from "./action-menu.tsx";
import { Button, Icon, IconButton } from "./controls.tsx";
import { byId, el } from "./dom.ts";
import { ListboxMenu } from "./listbox.tsx";
import { hideToast, toast, toastAnnouncement } from "./toast.ts";

const NAME = "Lambda Chat";

/** The note of the demo, once its part is loaded. */
const demoNote = signal<FunctionComponent | null>(null);

/** Builds the frame into the body; `onExample` sends the text of an example. */
export function renderShell(onExample: (text: string) => void): void {
  const root = el("div", { id: "root" });
  document.body.append(root);
  render(<Shell onExample={onExample} />, root);
  effect(() => {
    document.title = title.value ? `${title.value} – ${NAME}` : NAME;
  });
  effect(() => {
    if (isDemo.value) void loadLibrary().then((part) => (demoNote.value = part?.DemoNote ?? null));
  });
}

function Shell({ onExample }: { onExample: (text: string) => void }) {
  const skip = (event: Event) => {
    // The hash of the URL names the conversation, so the link must not change it.
    event.preventDefault();
    byId("message").focus();
  };
  const names = [isSidebarMoving.value && "moving", isTemporary.value && "temporary"].filter(Boolean).join(" ");
  return (
    <>
      <a class="skip" href="#message" id="skip" onClick={skip}>{t.shell.skip}</a>
      <div id="page" class={names} data-empty="" data-list={isSidebarOpen.value ? "open" : "closed"}>
        <Sidebar />
        <div id="shade" onClick={() => setSidebar(false)} />
        <div id="main" inert={coversMain()}>
          <Header />
          <main id="scroller" tabIndex={-1}>
            <Welcome />
            <div id="messages" />
          </main>
          <Footer onExample={onExample} />
        </div>
      </div>
      <div class="offscreen" id="announcer" role="status" />
      <div class="offscreen" id="toast-announcer" role="alert">{toastAnnouncement}</div>
    </>
  );
}

/** Whether the list covers the chat. */
const coversMain = () => isSidebarOpen.value && isNarrow.value;

function Logo({ size }: { size: number }) {
  const href = document.querySelector('link[rel="icon"]')?.getAttribute("href") ?? "";
  return <img src={href} alt="" width={size} height={size} />;
}

function Sidebar() {
  return (
    <nav id="sidebar" aria-label={t.shell.conversations} inert={!isSidebarOpen.value}>
      <div class="sidebar-head">
        <Logo size={26} />
        <strong>{NAME}</strong>
        <IconButton id="close-list" icon="close" label={t.shell.closeList} onClick={() => setSidebar(false)} />
      </div>
      <Button id="new-chat" icon="new" kind="new" onClick={() => startNew()}>{t.newConversation}</Button>
      <div class="search" role="search">
        <Icon name="search" />
        <SearchBox />
        <button type="button" id="open-palette" title={t.shell.palette} onClick={openPalette}>
          <kbd>{/Mac|iP/.test(navigator.platform) ? "⌘K" : "Ctrl K"}</kbd>
          <span class="offscreen">{t.shell.palette}</span>
        </button>
      </div>
      <ConversationList />
      {coversMain() && <Toast />}
      <div class="sidebar-foot">
        <Button icon="archive" onClick={() => showArchive(true)}>{t.list.archiveTitle}</Button>
        <Button id="open-settings" icon="settings" onClick={openSettings}>{t.shell.settings}</Button>
      </div>
    </nav>
  );
}

function Header() {
  const toggleTemporary = () => {
    isTemporary.value = !isTemporary.value;
    // On touch screens the focus would open the keyboard.
    if (window.matchMedia("(pointer: fine)").matches) byId("message").focus();
  };
  return (
    <header>
      <IconButton
        id="toggle-list"
        icon="list"
        label={t.shell.list}
        aria-controls="sidebar"
        aria-expanded={isSidebarOpen.value}
        onClick={() => setSidebar(!isSidebarOpen.value)}
      />
      <h1 id="title" dir="auto">{title.value ?? t.newConversation}</h1>
      <IconButton id="new-chat-compact" icon="new" label={t.newConversation} onClick={() => startNew()} />
      <IconButton id="theme" icon={isDark.value ? "moon" : "sun"} label={isDark.value ? t.shell.lightColours : t.shell.darkColours} onClick={toggleTheme} />
      <IconButton
        id="temporary"
        icon="temporary"
        label={t.temporary.title}
        hidden={openId.value !== null}
        aria-pressed={isTemporary.value}
        onClick={toggleTemporary}
      />
      <ActionMenu id="conversation-actions" label={t.shell.actions} hidden={!openConversation.value} actions={() => actionsOf(openId.value)} />
    </header>
  );
}

function Welcome() {
  return (
    <section id="welcome">
      <Logo size={44} />
      <h2>{t.welcome.title}</h2>
      <p>{t.welcome.text.split(/(?<=。)/).map((sentence) => <span key={sentence}>{sentence}</span>)}</p>
    </section>
  );
}

function Examples({ onExample }: { onExample: (text: string) => void }) {
  const examples = isDemo.value ? t.demo.examples : t.welcome.examples;
  const send = (text: string, at: number) => {
    if (isDemo.value) selectDemoAgent(at);
    onExample(text);
  };
  return (
    <div class="examples">
      {examples.map((text, at) => <button key={at} type="button" class="example" onClick={() => send(text, at)}>{text}</button>)}
    </div>
  );
}

function Footer({ onExample }: { onExample: (text: string) => void }) {
  return (
    <footer>
      <IconButton id="jump" icon="down" label={t.shell.latest} hidden />
      {!coversMain() && <Toast />}
      <p id="temporary-note" hidden={!isTemporary.value}>
        <Icon name="temporary" />
        <span><strong>{t.temporary.name}</strong>{t.temporary.text}</span>
        <Button id="delete-temporary" kind="text" hidden={openId.value === null} onClick={deleteTemporary}>{t.temporary.delete}</Button>
      </p>
      <Composer />
      <p id="composer-hint" />
      <Examples onExample={onExample} />
      <p id="demo" hidden={!isDemo.value}>{demoNote.value && <demoNote.value />}</p>
    </footer>
  );
}

function deleteTemporary(): void {
  if (openId.value !== null) removeConversation({ id: openId.value, title: t.temporary.title });
}

function Toast() {
  const { error = null, text = "", action = null, waits = false } = toast.value ?? {};
  const run = () => {
    hideToast();
    action?.run();
  };
  return (
    <div id="toast" class={error ? "note failed" : "note done"} hidden={toast.value === null}>
      <Icon name={error ? "alert" : "check"} />
      <p id="toast-text">{text}</p>
      <span id="toast-action">{action && <Button icon={error ? "reload" : undefined} disabled={waits} onClick={run}>{action.label}</Button>}</span>
      <IconButton id="toast-close" icon="close" label={t.dismiss} onClick={hideToast} />
    </div>
  );
}

function Composer() {
  // The composer restores the draft; the browser's own restoring would replace it when the user comes back.
  return (
    <div id="composer">
      <div id="files" />
      <label class="offscreen" for="message">{t.shell.message}</label>
      <textarea id="message" autocomplete="off" rows={1} placeholder={t.shell.placeholder} aria-describedby="composer-hint" />
      <div id="composer-bar">
        <Attach />
        <div id="choice"><Choice /></div>
        <IconButton id="send" icon="send" label={t.shell.send} />
      </div>
    </div>
  );
}

/** The button for files. Without the input in the document, Safari may lose the choice. */
function Attach() {
  const input = useRef<HTMLInputElement>(null);
  const attach = () => {
    attachFiles([...(input.current?.files ?? [])]);
    if (input.current) input.current.value = "";
  };
  return (
    <>
      <input type="file" id="file-choice" multiple hidden ref={input} onChange={attach} />
      <IconButton id="attach" icon="attach" label={t.composer.attach} hidden={!takesFiles.value} onClick={() => input.current?.click()} />
    </>
  );
}

/** The choice of model, agent and search, shown when there is something to choose. */
function Choice() {
  const modelOptions = models.value.map(({ name, model: id, failing }) => {
    const label = modelLabel(name);
    const description = [[name, id].find((other) => other !== label), failing ? t.composer.failing : ""].filter(Boolean).join(" · ");
    return { value: name, label, description };
  });
  const agentOptions = agents.value.map(({ id, name, description }) => ({ value: id, label: name, description }));
  const searchOptions = canSearch.value ? SEARCH_MODES.map((value) => ({ value, ...t.composer.searches[value] })) : [];
  const groups = [
    { name: t.composer.model, options: modelOptions, selected: model.value, onSelect: setDefaultModel },
    { name: t.composer.agent, options: agentOptions, selected: agent.value, onSelect: setAgent },
    { name: t.composer.search, options: searchOptions, selected: searchMode.value, quiet: "auto", onSelect: setSearchMode },
  ];
  const hasOthers = modelOptions.length > 1 || agentOptions.length > 1;
  return <ListboxMenu groups={groups} describe={hasOthers ? t.composer.choose : t.composer.chooseSearch} />;
}
