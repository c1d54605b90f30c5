import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"

/** UUID v7 from the `Clock`: later ids sort after earlier ones, which list cursors rely on. */
export class Ids extends Context.Service<Ids, { readonly next: Effect.Effect<string> }>()(
  "@scheduling/server/platform/Ids"
) {
  static readonly layer: Layer.Layer<Ids> = Layer.effect(
    Ids,
    Effect.map(SecureRandom.SecureRandom, (random) => Ids.of({ next: random.uuidV7() }))
  ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}
