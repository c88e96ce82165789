/** The messages between a sandbox and the process that runs it. */

export type ToSandbox =
  | { readonly say: "invoke"; readonly id: number; readonly event: unknown; readonly timeoutMs: number }
  /** The messages of the last invocation were deleted from the queue. */
  | { readonly say: "acknowledged" };

export type FromSandbox =
  /** The function's file was imported; it may be invoked. */
  | { readonly say: "ready"; readonly heapLimitMb: number }
  /** Once a second of an invocation, if its event loop turns. */
  | { readonly say: "beat" }
  | { readonly say: "answer"; readonly id: number; readonly answer: unknown }
  | { readonly say: "threw"; readonly id: number; readonly error: string };

/** A Lambda function's module, as far as it is used. */
export interface FunctionModule {
  readonly handler: (event: unknown, context: InvocationContext) => Promise<unknown>;
  /** Called by the local system only: AWS does not report to a function that its messages were deleted. */
  readonly acknowledged?: () => Promise<void>;
}

export interface InvocationContext {
  readonly awsRequestId: string;
  readonly functionName: string;
  getRemainingTimeInMillis(): number;
}
