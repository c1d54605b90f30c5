import { Context, Effect, Layer } from "effect"
import { type Member, signUp } from "./http.ts"
import type { TestApp } from "./TestApp.ts"

/** An account that tests share if they change nothing about it, because signing up takes 0.1 s. */
export class Somebody extends Context.Service<Somebody, Member>()(
  "@scheduling/server/test/Somebody"
) {
  static readonly layer: Layer.Layer<Somebody, never, TestApp> = Layer.effect(
    Somebody,
    Effect.suspend(signUp)
  )
}
