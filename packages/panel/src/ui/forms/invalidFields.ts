interface InvalidField {
  readonly name: string
  readonly control: HTMLElement | undefined
}

/** Returns the fields marked as invalid, in document order. */
export const invalidFieldsIn = (form: HTMLFormElement): ReadonlyArray<InvalidField> =>
  Array.from(form.querySelectorAll<HTMLElement>("[data-invalid]"), (field) => {
    const label = field.querySelector("label")
    const name = field.dataset["invalid"] || label?.textContent || ""
    const control = label?.control ?? field.querySelector<HTMLElement>("input, select, textarea")
    return { name, control: control ?? undefined }
  })

/** Opens the collapsed sections that contain a control, scrolls to the control and focuses it. */
export const focusField = (control: HTMLElement): void => {
  for (let at = control.closest("details"); at !== null; at = parentSectionOf(at)) at.open = true
  control.scrollIntoView({ block: "center" })
  control.focus({ preventScroll: true })
}

const parentSectionOf = (section: Element) => section.parentElement?.closest("details") ?? null
