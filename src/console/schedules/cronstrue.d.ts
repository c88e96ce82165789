/** Adds Korean to the library; it has no types of its own. */
declare module "cronstrue/locales/ko";
