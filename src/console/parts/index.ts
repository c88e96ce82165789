/** The parts that screens are made of. Among themselves they import each other by file. */
export { Audits, AuditTable } from "./audits.tsx";
export { Axis, Bars, type TimeScale, boxOn, linesOf, percentOf } from "./axis.tsx";
export { Card, Empty, ScreenHead } from "./card.tsx";
export { type Column, column } from "./column.tsx";
export { DataTable } from "./data-table.tsx";
export { ConfirmDialog, Dialog, FormDialog, answerTo, confirm } from "./dialog.tsx";
export {
  Button,
  ClockField,
  Form,
  FormField,
  Named,
  Select,
  TextField,
  clockOf,
  clockTime,
  localTimeOf,
} from "./form.tsx";
export { Icon, type IconName } from "./icon.tsx";
export { JsonView } from "./json.tsx";
export { Failure, Loaded, Loading, Older, later } from "./loaded.tsx";
export {
  ErrorText,
  JobBadge,
  JobLink,
  Legend,
  Link,
  MiddleCut,
  Nothing,
  NumberedLink,
  RowLink,
  StateBadge,
  Tag,
  type TagProps,
  orNothing,
  zeroOr,
} from "./marks.tsx";
export { Paused, togglePause } from "./paused.tsx";
export { Tabs } from "./tabs.tsx";
export { Time, explainTimes } from "./time.tsx";
export { Copy, Toasts, acting, copy, say, sayFailed, soon } from "./toast.tsx";
export { rowsBeyond } from "./visible-rows.ts";
