import { Data } from "effect"

/** The embedded store cannot be opened, for example because the disk is full. */
export class EmbeddedStoreError extends Data.TaggedError("EmbeddedStoreError")<{
  readonly dataDir: string | undefined
  readonly reason: string
  readonly cause?: unknown
}> {
  override get message(): string {
    return `The embedded store in ${this.dataDir ?? "memory"} cannot be opened: ${this.reason}`
  }
}
