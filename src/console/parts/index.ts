/** The parts that screens are made of. Among themselves they import each other by file. */
export * from "./audits.tsx";
export * from "./axis.tsx";
export * from "./card.tsx";
export * from "./column.tsx";
export * from "./data-table.tsx";
export * from "./dialog.tsx";
export * from "./form.tsx";
export * from "./icon.tsx";
export * from "./json.tsx";
export * from "./loaded.tsx";
export * from "./marks.tsx";
export * from "./paused.tsx";
export * from "./picture.tsx";
export * from "./tabs.tsx";
export * from "./time.tsx";
export * from "./toast.tsx";
export * from "./visible-rows.ts";
