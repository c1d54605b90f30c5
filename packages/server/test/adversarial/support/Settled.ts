import { Context, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import type { TestApp } from "../../support/TestApp.ts"
import { type Owner, settle } from "./settle.ts"

/** An owner with records, for tests that change nothing. */
export class Settled extends Context.Service<Settled, Owner>()(
  "@scheduling/server/test/adversarial/support/Settled"
) {
  static readonly layer: Layer.Layer<Settled, never, TestApp | SqlClient.SqlClient> = Layer.effect(
    Settled,
    settle
  )
}
