"""The section of the report and the tab of the explorer."""
