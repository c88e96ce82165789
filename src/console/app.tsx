import { LocationProvider, Route, Router } from "preact-iso";
import { addresses, base } from "./address.ts";
import { Empty } from "./parts/empty.tsx";
import { Shell } from "./shell/shell.tsx";
import { DeadLettersScreen } from "./screens/dead-letters.tsx";
import { JobScreen } from "./screens/job.tsx";
import { JobsScreen } from "./screens/jobs.tsx";
import { KindsScreen } from "./screens/kinds.tsx";
import { LanesScreen } from "./screens/lanes.tsx";
import { LocksScreen } from "./screens/locks.tsx";
import { OverviewScreen } from "./screens/overview.tsx";
import { RunScreen } from "./screens/run.tsx";
import { RunsScreen } from "./screens/runs.tsx";
import { ScheduleScreen } from "./screens/schedule.tsx";
import { SchedulesScreen } from "./screens/schedules.tsx";
import { UpcomingScreen } from "./screens/upcoming.tsx";

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
        <Route path={base} component={OverviewScreen} />
        <Route default component={NoSuchPlace} />
      </Router>
    </Shell>
  </LocationProvider>
);

const NoSuchPlace = () => (
  <Empty title="There is nothing at this address">
    <a href={addresses.overview}>Go to the overview</a>
  </Empty>
);
