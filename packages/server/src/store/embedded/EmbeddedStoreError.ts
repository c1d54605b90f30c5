import { Data } from "effect"

/** The embedded store cannot be opened: a full disk, no permission, files of another version. */
export class EmbeddedStoreError extends Data.TaggedError("EmbeddedStoreError")<{
  readonly dataDir: string | undefined
  readonly reason: string
  readonly cause?: unknown
}> {
  override get message(): string {
    return `The embedded store in ${this.dataDir ?? "memory"} cannot be opened: ${this.reason}`
  }
}
