/** Live events: a stream of a workspace's changes. */
import { Layer } from "effect"
import { EventStreams } from "./EventStreams.ts"
import { EventsHandlers } from "./http.ts"

export const LiveLayer = EventsHandlers.pipe(Layer.provide(EventStreams.layer))
