import { Context, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import type { Member } from "../support/http.ts"
import type { TestApp } from "../support/TestApp.ts"
import type { Endpoint } from "./contract.ts"
import { settle } from "./holdings.ts"

/** Somebody who has one of everything, for tests that leave it as it was. */
export class Settled extends Context.Service<
  Settled,
  { readonly member: Member; readonly pathOf: (endpoint: Pick<Endpoint, "path">) => string }
>()("@scheduling/server/test/adversarial/Settled") {
  static readonly layer: Layer.Layer<Settled, never, TestApp | SqlClient.SqlClient> = Layer.effect(
    Settled,
    Effect.orDie(settle)
  )
}
