import { Context, Effect, Layer } from "effect"
import { type Member, signUp } from "./http.ts"
import type { TestApp } from "./TestApp.ts"

/** An account for tests that do not change it. Sharing the account saves 0.1 s per test. */
export class SharedAccount extends Context.Service<SharedAccount, Member>()(
  "@scheduling/server/test/SharedAccount"
) {
  static readonly layer: Layer.Layer<SharedAccount, never, TestApp> = Layer.effect(
    SharedAccount,
    Effect.suspend(signUp)
  )
}
