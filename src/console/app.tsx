import { Empty, later, Link } from "./parts/index.ts";
import { LocationProvider, Route, Router } from "preact-iso";
import { addresses, base } from "./address.ts";
import { Shell } from "./shell/shell.tsx";
import { OverviewScreen } from "./screens/overview.tsx";
import { words } from "./language/words.ts";

// What most visits do not show.
const ActivityScreen = later(async () => (await import("./screens/activity.tsx")).ActivityScreen);
const DeadLettersScreen = later(async () => (await import("./screens/dead-letters.tsx")).DeadLettersScreen);
const JobScreen = later(async () => (await import("./screens/job.tsx")).JobScreen);
const JobsScreen = later(async () => (await import("./screens/jobs.tsx")).JobsScreen);
const SchedulesScreen = later(async () => (await import("./screens/schedules.tsx")).SchedulesScreen);
const KindsScreen = later(async () => (await import("./screens/kinds.tsx")).KindsScreen);
const LanesScreen = later(async () => (await import("./screens/lanes.tsx")).LanesScreen);
const LocksScreen = later(async () => (await import("./screens/locks.tsx")).LocksScreen);
const RunScreen = later(async () => (await import("./screens/run.tsx")).RunScreen);
const RunsScreen = later(async () => (await import("./screens/runs.tsx")).RunsScreen);
const ScheduleScreen = later(async () => (await import("./screens/schedule.tsx")).ScheduleScreen);
const UpcomingScreen = later(async () => (await import("./screens/upcoming.tsx")).UpcomingScreen);

export const App = () => (
  <LocationProvider scope={base}>
    <Shell>
      <Router>
        <Route path={addresses.jobs} component={JobsScreen} />
        <Route path={addresses.job(":id")} component={JobScreen} />
        <Route path={addresses.schedules} component={SchedulesScreen} />
        <Route path={addresses.scheduleAny} component={ScheduleScreen} />
        <Route path={addresses.upcoming} component={UpcomingScreen} />
        <Route path={addresses.kinds} component={KindsScreen} />
        <Route path={addresses.runs} component={RunsScreen} />
        <Route path={addresses.run(":id")} component={RunScreen} />
        <Route path={addresses.deadLetters} component={DeadLettersScreen} />
        <Route path={addresses.lanes} component={LanesScreen} />
        <Route path={addresses.locks} component={LocksScreen} />
        <Route path={addresses.activity} component={ActivityScreen} />
        <Route path={base} component={OverviewScreen} />
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
