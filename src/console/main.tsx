import { render } from "preact";
import { App } from "./app.tsx";
import { followChanges } from "./live.ts";
import { explainTimes } from "./parts/time.tsx";
import "./theme.ts";

followChanges();
explainTimes();
render(<App />, document.body);
