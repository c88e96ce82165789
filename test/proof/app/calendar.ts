import { defineApp, defineCalendar, defineJob, defineSchedule, type ScheduleDefinition } from "belfry";
import { isNewest } from "../points.ts";
import { timed, tries } from "./target.ts";

const bill = defineJob({ id: "bill", ...tries, retention: "365d", ...timed });

const weekend = defineCalendar({ id: "weekend", weekdays: ["sat", "sun"] });
const workdays = defineCalendar({ id: "workdays", weekdays: ["mon", "tue", "wed", "thu", "fri"] });
const korea = defineCalendar({ id: "kr", yearly: ["05-05 Children's Day", "06-06"], dates: ["2031-05-28 Buddha"] });
const usa = defineCalendar({
  id: "us",
  ics: "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20310526\r\nSUMMARY:Memorial Day\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
  dates: ["2031-04-18..2031-04-20 Closed"],
});

/** The national holidays of 2031 with what the firm adds. The newest release has other days of its own. */
const germany = (isNext: boolean) =>
  defineCalendar({
    id: "de",
    yearly: ["05-01 Labour Day"],
    dates: [
      "2031-03-29 Moving day",
      { date: "2031-04-11 00:00:00", name: "Good Friday" },
      "2031-04-14 Easter Monday",
      "2031-05-22 Ascension",
      "2031-06-02 Whit Monday",
      ...(isNext ? ["2031-04-22 Inventory", "2031-05-19..2031-05-21 Spring break", "2031-05-23"] : ["2031-04-23"]),
    ],
  });

const rules = ["skip", "next", "previous", "next-business-day", "previous-business-day"] as const;

/** From 30 March on all of them fire at 00:30 UTC, on three dates. */
export function schedulesOf(isNext: boolean): readonly ScheduleDefinition[] {
  const de = germany(isNext);
  const berlin = { run: bill, cron: "30 2 * * *", timezone: "Europe/Berlin", overlap: "allow" } as const;
  const seoul = {
    ...berlin,
    cron: "30 9 * * *",
    timezone: "Asia/Seoul",
    misfire: { all: { pace: "1s", maxCount: 4 } },
  } as const;
  const newYork = { ...berlin, cron: "30 20 * * *", timezone: "America/New_York", misfire: "skip" } as const;
  return [
    ...rules.flatMap((onExcluded) => [
      defineSchedule({ ...berlin, id: `berlin-${onExcluded}`, except: [weekend, de], onExcluded }),
      defineSchedule({ ...seoul, id: `seoul-${onExcluded}`, except: korea, only: workdays, onExcluded }),
      defineSchedule({ ...newYork, id: `new-york-${onExcluded}`, except: [usa, de], onExcluded }),
    ]),
    ...(["skip", "shift", "first-valid"] as const).map((gap) =>
      defineSchedule({ ...berlin, id: `gap-${gap}`, except: de, onExcluded: "next", dst: { gap } }),
    ),
  ];
}

export default [defineApp({ name: "proof", jobs: [bill], schedules: schedulesOf(isNewest()) })];
