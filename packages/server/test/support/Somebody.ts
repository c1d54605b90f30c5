import { Context, Effect, Layer } from "effect"
import { type Member, signUp } from "./http.ts"
import type { TestApp } from "./TestApp.ts"

/** An account for tests that do not change it. Sharing the account saves 0.1 s per test. */
export class Somebody extends Context.Service<Somebody, Member>()(
  "@scheduling/server/test/Somebody"
) {
  static readonly layer: Layer.Layer<Somebody, never, TestApp> = Layer.effect(
    Somebody,
    Effect.suspend(signUp)
  )
}
