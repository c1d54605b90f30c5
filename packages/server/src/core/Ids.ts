import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"

/**
 * Generates version 7 UUIDs from the `Clock`. Ids sort by creation time, and list cursors rely on
 * this order.
 */
export class Ids extends Context.Service<Ids, { readonly next: Effect.Effect<string> }>()(
  "@scheduling/server/core/Ids"
) {
  static readonly layer: Layer.Layer<Ids> = Layer.effect(
    Ids,
    Effect.map(SecureRandom.SecureRandom, (random) => Ids.of({ next: random.uuidV7() }))
  ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}
