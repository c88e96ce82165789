import { render } from "preact";
import { App } from "./app.tsx";
import { language } from "./language/choice.ts";
import { followChanges } from "./live.ts";
import { explainTimes } from "./parts/index.ts";
import "./theme.ts";

document.documentElement.lang = language;
followChanges();
explainTimes();
render(<App />, document.body);
