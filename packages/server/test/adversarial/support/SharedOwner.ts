import { Context, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import type { TestApp } from "../../support/TestApp.ts"
import { type Owner, createOwner } from "./createOwner.ts"

/** An owner with records, for tests that change nothing. */
export class SharedOwner extends Context.Service<SharedOwner, Owner>()(
  "@scheduling/server/test/adversarial/support/SharedOwner"
) {
  static readonly layer: Layer.Layer<SharedOwner, never, TestApp | SqlClient.SqlClient> =
    Layer.effect(SharedOwner, createOwner)
}
