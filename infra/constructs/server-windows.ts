/** When RDS may work on a server. All in UTC, at least half an hour. @beta */
export interface ServerWindows {
  /** Each day, `03:00-03:30`. Default: RDS chooses one. */
  readonly backupWindow?: string;
  /** Each week, `sun:04:00-sun:04:30`; it must not overlap the other. Default: RDS chooses one. */
  readonly maintenanceWindow?: string;
}

const days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const dayMinutes = 1_440;
const weekMinutes = 7 * dayMinutes;
const minutesMin = 30;

interface Window {
  readonly from: number;
  readonly minutes: number;
}

/** @throws Error for what RDS would refuse when it is deployed: another form, too short, or one over the other. */
export function windowsOf({ backupWindow, maintenanceWindow }: ServerWindows) {
  const backup = backupWindow === undefined ? null : dailyWindow(backupWindow);
  const maintenance = maintenanceWindow === undefined ? null : weeklyWindow(maintenanceWindow);
  if (backup !== null && maintenance !== null && days.some((_, day) => overlaps(maintenance, onDay(backup, day)))) {
    const rule = "must not overlap the backups";
    throw new Error(`database.maintenanceWindow is "${maintenanceWindow}": it ${rule} at "${backupWindow}"`);
  }
  return {
    ...(backupWindow === undefined ? {} : { preferredBackupWindow: backupWindow }),
    ...(maintenanceWindow === undefined ? {} : { preferredMaintenanceWindow: maintenanceWindow }),
  };
}

const time = "([01]\\d|2[0-3]):([0-5]\\d)";

function dailyWindow(text: string): Window {
  const [, fromHour, fromMinute, toHour, toMinute] = new RegExp(`^${time}-${time}$`).exec(text) ?? [];
  const window = windowFrom(minuteOf(fromHour, fromMinute), minuteOf(toHour, toMinute), dayMinutes);
  return checked("backupWindow", text, window, "03:00-03:30");
}

function weeklyWindow(text: string): Window {
  const [day, ...rest] = new RegExp(`^(\\w{3}):${time}-(\\w{3}):${time}$`).exec(text)?.slice(1) ?? [];
  const [fromHour, fromMinute, toDay, toHour, toMinute] = rest;
  const from = days.indexOf(day ?? "") * dayMinutes + minuteOf(fromHour, fromMinute);
  const to = days.indexOf(toDay ?? "") * dayMinutes + minuteOf(toHour, toMinute);
  const isNamed = days.includes(day ?? "") && days.includes(toDay ?? "");
  const window = windowFrom(isNamed ? from : Number.NaN, to, weekMinutes);
  return checked("maintenanceWindow", text, window, "sun:04:00-sun:04:30");
}

const minuteOf = (hour = "", minute = ""): number => Number.parseInt(hour) * 60 + Number.parseInt(minute);

const windowFrom = (from: number, to: number, round: number): Window => ({
  from,
  minutes: (to - from + round) % round,
});

function checked(field: keyof ServerWindows, text: string, window: Window, example: string): Window {
  if (window.minutes >= minutesMin) return window;
  throw new Error(`database.${field} is "${text}": it must be at least half an hour in UTC, like "${example}"`);
}

const onDay = ({ from, minutes }: Window, day: number): Window => ({ from: day * dayMinutes + from, minutes });

/** On the round of a week. */
function overlaps(one: Window, other: Window): boolean {
  const apart = (first: Window, second: Window) => (second.from - first.from + weekMinutes) % weekMinutes;
  return apart(one, other) < one.minutes || apart(other, one) < other.minutes;
}
