import { render } from "preact";
import { App } from "./app.tsx";
import { listen } from "./live.ts";
import { explainTimes } from "./parts/time.tsx";
import "./theme.ts";

listen();
explainTimes();
render(<App />, document.body);
