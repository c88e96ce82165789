import { type TimeMode, timeMode, timeModes, timeModeWords } from "../time.ts";
import { theme, themes } from "../theme.ts";
import { ConnectionMark } from "./connection.tsx";
import { helpIsOpen } from "./shortcuts.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";

export const TopBar = () => (
  <header class="top-bar">
    <ConnectionMark />
    <span class="space" />
    <TimeSwitch />
    <ThemeSwitch />
    <button type="button" class="icon-button" title="Keyboard: ?" onClick={() => (helpIsOpen.value = true)}>
      <Icon name="keyboard" />
      <span class="hidden">Keyboard shortcuts</span>
    </button>
  </header>
);

const TimeSwitch = () => (
  <label class="time-switch">
    <span class="hidden">How times are written</span>
    <Icon name="schedules" size={14} />
    <select
      value={timeMode.value}
      onChange={(event) => {
        timeMode.value = event.currentTarget.value as TimeMode;
      }}
    >
      {timeModes.map((mode) => (
        <option key={mode} value={mode}>
          {timeModeWords[mode]}
        </option>
      ))}
    </select>
  </label>
);

const themeIcons = { system: "system", light: "sun", dark: "moon" } as const satisfies Record<string, IconName>;

function ThemeSwitch() {
  const next = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? "system";
  const change = (): void => {
    theme.value = next;
  };
  return (
    <button type="button" class="icon-button" onClick={change} title={`Theme: ${theme.value}. Change to ${next}`}>
      <Icon name={themeIcons[theme.value]} />
      <span class="hidden">{`Theme: ${theme.value}. Change to ${next}`}</span>
    </button>
  );
}
