import { Context, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import type { TestApp } from "../../support/TestApp.ts"
import { type Owner, settle } from "./settle.ts"

/** An owner with records, for tests that change nothing. */
export class SettledOwner extends Context.Service<SettledOwner, Owner>()(
  "@scheduling/server/test/adversarial/support/SettledOwner"
) {
  static readonly layer: Layer.Layer<SettledOwner, never, TestApp | SqlClient.SqlClient> =
    Layer.effect(SettledOwner, settle)
}
