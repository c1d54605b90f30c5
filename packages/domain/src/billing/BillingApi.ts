import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication } from "../auth/Authentication.ts"
import { Access } from "../shared/Access.ts"
import { docs } from "../shared/docs.ts"
import { Conflict } from "../shared/Errors.ts"
import { idInPath, WorkspaceId } from "../shared/Ids.ts"
import { BillingPage, Invoices, PriceChoice, WorkspaceBilling } from "./Billing.ts"
import { BillingDisabled, BillingUnavailable, PaymentFailed } from "./BillingErrors.ts"
import { Plan } from "./Plan.ts"
import { Usage, UsageQuery } from "./Usage.ts"

const workspace = { workspace_id: idInPath(WorkspaceId) }

export class BillingApi extends HttpApiGroup.make("billing")
  .add(
    HttpApiEndpoint.get("get", "/workspaces/:workspace_id/billing", {
      params: workspace,
      success: WorkspaceBilling
    })
      .annotate(Access, Access.role("owner"))
      .annotateMerge(
        docs("Get the plan", "The plan of the workspace, its subscription and its usage.")
      ),

    HttpApiEndpoint.get("getUsage", "/workspaces/:workspace_id/billing/usage", {
      params: workspace,
      query: UsageQuery,
      success: Usage
    })
      .annotate(Access, Access.role("owner"))
      .annotateMerge(
        docs(
          "Get the usage by day",
          "The number of executions, notifications, monitors and seats per UTC day. At most 366 days."
        )
      ),

    HttpApiEndpoint.post("checkout", "/workspaces/:workspace_id/billing/checkout", {
      params: workspace,
      payload: PriceChoice,
      success: BillingPage,
      error: [BillingDisabled, BillingUnavailable, Conflict]
    })
      .annotate(Access, Access.role("owner"))
      .annotateMerge(
        docs(
          "Buy a plan",
          "Returns the URL of a payment page. Earlier unused payment pages stop working."
        )
      ),

    HttpApiEndpoint.post("portal", "/workspaces/:workspace_id/billing/portal", {
      params: workspace,
      success: BillingPage,
      error: [BillingDisabled, BillingUnavailable, Conflict]
    })
      .annotate(Access, Access.role("owner"))
      .annotateMerge(
        docs(
          "Open the customer portal",
          "Returns the URL of a page to change cards and addresses and to see invoices."
        )
      ),

    HttpApiEndpoint.post("change", "/workspaces/:workspace_id/billing/change", {
      params: workspace,
      payload: PriceChoice,
      success: WorkspaceBilling,
      error: [BillingDisabled, BillingUnavailable, Conflict, PaymentFailed]
    })
      .annotate(Access, Access.role("owner"))
      .annotateMerge(
        docs(
          "Change the plan",
          "An upgrade takes effect immediately, and the difference is charged. A downgrade takes effect at the end of the paid period. During a trial, both take effect immediately."
        )
      ),

    HttpApiEndpoint.post("cancel", "/workspaces/:workspace_id/billing/cancel", {
      params: workspace,
      success: WorkspaceBilling,
      error: [BillingDisabled, BillingUnavailable, Conflict]
    })
      .annotate(Access, Access.role("owner"))
      .annotateMerge(
        docs("Cancel the subscription", "The subscription ends at the end of the paid period.")
      ),

    HttpApiEndpoint.post("resume", "/workspaces/:workspace_id/billing/resume", {
      params: workspace,
      success: WorkspaceBilling,
      error: [BillingDisabled, BillingUnavailable, Conflict, PaymentFailed]
    })
      .annotate(Access, Access.role("owner"))
      .annotateMerge(
        docs(
          "Resume the subscription",
          "Withdraws a pending cancellation or downgrade, or resumes a paused subscription."
        )
      ),

    HttpApiEndpoint.get("listInvoices", "/workspaces/:workspace_id/billing/invoices", {
      params: workspace,
      success: Invoices,
      error: [BillingDisabled, BillingUnavailable]
    })
      .annotate(Access, Access.role("owner"))
      .annotateMerge(docs("List invoices", "The latest 100 invoices, newest first."))
  )
  .middleware(Authentication)
  .add(
    HttpApiEndpoint.get("listPlans", "/plans", {
      success: Schema.Struct({
        data: Schema.Array(Plan).annotate({ description: "All plans." })
      }).annotate({ identifier: "Plans" })
    })
      .annotate(Access, Access.public)
      .annotateMerge(docs("List plans", "All plans with their limits and prices."))
  )
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({
      title: "Billing",
      description: "The plan of a workspace, its subscription and its usage."
    })
  ) {}
