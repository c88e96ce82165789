import { Icon, IconButton, type IconName, Select } from "../parts/index.ts";
import { type TimeMode, timeMode, timeModes, zoneName } from "../time.ts";
import { currentTime } from "../clock.ts";
import { keepLanguage, type Language, language, languages } from "../language/choice.ts";
import { theme, themes } from "../theme.ts";
import { ConnectionMark } from "./connection.tsx";
import { helpIsOpen } from "./shortcuts.tsx";
import { words } from "../language/words.ts";

export const TopBar = () => (
  <header class="line top-bar">
    <ConnectionMark />
    <span class="space" />
    <TimeSwitch />
    <LanguageSwitch />
    <ThemeSwitch />
    <IconButton icon="keyboard" text={words.shell.keyboard} onClick={() => (helpIsOpen.value = true)} />
  </header>
);

const TimeSwitch = () => (
  <label class="time-switch">
    <span class="hidden">{words.time.howWritten}</span>
    <Icon name="schedules" size={14} />
    <Select
      look=""
      of={timeModes.map((mode) => [mode, words.time.modes[mode]] as const)}
      value={timeMode.value}
      onChoose={(mode) => (timeMode.value = mode as TimeMode)}
    />
    {timeMode.value === "mine" ? <span class="zone">{zoneName("mine", currentTime())}</span> : null}
  </label>
);

/** Each language by its own name. */
const languageNames: Readonly<Record<Language, string>> = { en: "English", ko: "한국어" };

const LanguageSwitch = () => (
  <label class="time-switch">
    <span class="hidden">{words.shell.language}</span>
    <Select
      look=""
      of={languages.map((each) => [each, languageNames[each], each] as const)}
      value={language}
      onChoose={(next) => {
        keepLanguage(next as Language);
        // The address holds what the page shows.
        location.reload();
      }}
    />
  </label>
);

const themeIcons = { system: "system", light: "sun", dark: "moon" } as const satisfies Record<string, IconName>;

function ThemeSwitch() {
  const next = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? "system";
  const { themes: names } = words.shell;
  const text = words.shell.theme(names[theme.value], names[next]);
  return <IconButton icon={themeIcons[theme.value]} text={text} onClick={() => (theme.value = next)} />;
}
