"""The section of the report, the tab of the explorer and the tables for export."""
