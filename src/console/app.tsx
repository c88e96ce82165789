import { LocationProvider, Route, Router } from "preact-iso";
import { addresses, base } from "./address.ts";
import { Empty } from "./parts/empty.tsx";
import { Shell } from "./shell/shell.tsx";
import { JobScreen } from "./screens/job.tsx";
import { JobsScreen } from "./screens/jobs.tsx";

export const App = () => (
  <LocationProvider scope={base}>
    <Shell>
      <Router>
        <Route path={addresses.jobs} component={JobsScreen} />
        <Route path={addresses.job(":id")} component={JobScreen} />
        <Route path={base} component={JobsScreen} />
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
