/** A folder of the running system was deleted or moved away. */
export class FolderGone extends Error {
  override readonly name = "FolderGone";
  constructor(folder: string) {
    super(
      `the data folder ${folder} is gone, so the system stops: put it back and start again, or start without it for a fresh one`,
    );
  }
}
