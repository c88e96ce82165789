import { endpoints } from "../../scripts/endpoints.ts";
import { openApi } from "../../src/api/openapi.ts";

export { endpoints };

export const document = openApi(endpoints, { version: "0.0.0", isSigned: false, kinds: [] });
