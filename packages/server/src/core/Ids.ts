import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"

/**
 * Generates UUIDs v7 from the `Clock`. Later ids sort after earlier ones, which list cursors rely
 * on.
 */
export class Ids extends Context.Service<Ids, { readonly next: Effect.Effect<string> }>()(
  "@scheduling/server/core/Ids"
) {
  static readonly layer: Layer.Layer<Ids> = Layer.effect(
    Ids,
    Effect.map(SecureRandom.SecureRandom, (random) => Ids.of({ next: random.uuidV7() }))
  ).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}
