import { render } from "preact";
import { App } from "./app.tsx";
import { listen } from "./live.ts";
import "./theme.ts";

listen();
render(<App />, document.body);
