import type { Invoice } from "@scheduling/domain/billing/Billing"
import type Stripe from "stripe"
import { timestampOf } from "../store/index.ts"

export const toInvoice = (invoice: Stripe.Invoice): Invoice => ({
  id: invoice.id ?? "",
  number: invoice.number,
  status: invoice.status,
  currency: invoice.currency,
  total: invoice.total,
  url: invoice.hosted_invoice_url ?? null,
  created_at: timestampOf(new Date(invoice.created * 1_000))
})
