import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Test files in the order in which they were asked for: the likely finders come first. */
export class AsAsked extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files);
  }
}
