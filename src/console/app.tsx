import { Empty, later, Link } from "./parts/index.ts";
import { LocationProvider, Route, Router } from "preact-iso";
import { addresses, base } from "./address.ts";
import { Shell } from "./shell/shell.tsx";
import { OverviewScreen } from "./screens/overview.tsx";
import { words } from "./language/words.ts";

/** What most visits do not show is loaded when it is first shown. */
const screens = {
  [addresses.activity]: later(async () => (await import("./screens/activity.tsx")).ActivityScreen),
  [addresses.deadLetters]: later(async () => (await import("./screens/dead-letters.tsx")).DeadLettersScreen),
  [addresses.job(":id")]: later(async () => (await import("./screens/job.tsx")).JobScreen),
  [addresses.jobs]: later(async () => (await import("./screens/jobs.tsx")).JobsScreen),
  [addresses.kinds]: later(async () => (await import("./screens/kinds.tsx")).KindsScreen),
  [addresses.lanes]: later(async () => (await import("./screens/lanes.tsx")).LanesScreen),
  [addresses.locks]: later(async () => (await import("./screens/locks.tsx")).LocksScreen),
  [addresses.run(":id")]: later(async () => (await import("./screens/run.tsx")).RunScreen),
  [addresses.runs]: later(async () => (await import("./screens/runs.tsx")).RunsScreen),
  [addresses.scheduleAny]: later(async () => (await import("./screens/schedule.tsx")).ScheduleScreen),
  [addresses.schedules]: later(async () => (await import("./screens/schedules.tsx")).SchedulesScreen),
  [addresses.upcoming]: later(async () => (await import("./screens/upcoming.tsx")).UpcomingScreen),
  [base]: OverviewScreen,
};

export const App = () => (
  <LocationProvider scope={base}>
    <Shell>
      <Router>
        {Object.entries(screens).map(([path, screen]) => (
          <Route key={path} path={path} component={screen} />
        ))}
        <Route default component={NoSuchPlace} />
      </Router>
    </Shell>
  </LocationProvider>
);

const NoSuchPlace = () => (
  <Empty title={words.shell.nothingHere}>
    <Link to={addresses.overview} text={words.shell.goToOverview} />
  </Empty>
);
