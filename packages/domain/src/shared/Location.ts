import { Context } from "effect"

/**
 * The path of the record that an endpoint creates, with `:name` for a parameter of the endpoint's
 * own path. Only for records that are not found by their id below the path of the endpoint.
 */
export class Location extends Context.Service<Location, `/v1/${string}`>()(
  "@scheduling/domain/shared/Location"
) {}
