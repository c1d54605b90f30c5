import { Context } from "effect"

/**
 * The path of the record that an endpoint creates, with `:name` for a parameter of the endpoint's
 * own path. Only needed if the record's path is not the endpoint's path plus the id.
 */
export class CreatedRecordPath extends Context.Service<CreatedRecordPath, `/v1/${string}`>()(
  "@scheduling/domain/shared/CreatedRecordPath"
) {}
