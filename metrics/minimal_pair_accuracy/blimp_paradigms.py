"""The 67 paradigms of BLiMP: which phenomenon and which field of linguistics each belongs to.

From the released data (github.com/alexwarstadt/blimp, CC-BY-4.0) and Table 4 of Warstadt et al. (2020). Two
differences from the released `*.jsonl`: the two `animate_subject` paradigms are labelled `s-selection` there
and count as argument structure in the paper and in its released summary; `principle_A_case_2` has the field
`syntax/semantics` there and `syntax_semantics` in its siblings.
"""

# (phenomenon, field) -> paradigms
_GROUPS = {
    ("anaphor_agreement", "morphology"): "anaphor_gender_agreement anaphor_number_agreement",
    ("argument_structure", "syntax"): (
        "animate_subject_passive animate_subject_trans causative drop_argument inchoative intransitive "
        "passive_1 passive_2 transitive"
    ),
    ("binding", "syntax_semantics"): (
        "principle_A_c_command principle_A_case_1 principle_A_case_2 principle_A_domain_1 "
        "principle_A_domain_2 principle_A_domain_3 principle_A_reconstruction"
    ),
    ("control_raising", "syntax_semantics"): (
        "existential_there_object_raising existential_there_subject_raising expletive_it_object_raising "
        "tough_vs_raising_1 tough_vs_raising_2"
    ),
    ("determiner_noun_agreement", "morphology"): (
        "determiner_noun_agreement_1 determiner_noun_agreement_2 determiner_noun_agreement_irregular_1 "
        "determiner_noun_agreement_irregular_2 determiner_noun_agreement_with_adj_2 "
        "determiner_noun_agreement_with_adj_irregular_1 determiner_noun_agreement_with_adj_irregular_2 "
        "determiner_noun_agreement_with_adjective_1"
    ),
    ("ellipsis", "syntax"): "ellipsis_n_bar_1 ellipsis_n_bar_2",
    ("filler_gap_dependency", "syntax"): (
        "wh_questions_object_gap wh_questions_subject_gap wh_questions_subject_gap_long_distance "
        "wh_vs_that_no_gap wh_vs_that_no_gap_long_distance wh_vs_that_with_gap "
        "wh_vs_that_with_gap_long_distance"
    ),
    ("irregular_forms", "morphology"): "irregular_past_participle_adjectives irregular_past_participle_verbs",
    ("island_effects", "syntax"): (
        "adjunct_island complex_NP_island coordinate_structure_constraint_complex_left_branch "
        "coordinate_structure_constraint_object_extraction left_branch_island_echo_question "
        "left_branch_island_simple_question sentential_subject_island wh_island"
    ),
    ("npi_licensing", "semantics"): (
        "matrix_question_npi_licensor_present npi_present_1 npi_present_2 only_npi_licensor_present "
        "sentential_negation_npi_licensor_present"
    ),
    ("npi_licensing", "syntax_semantics"): "only_npi_scope sentential_negation_npi_scope",
    ("quantifiers", "semantics"): (
        "existential_there_quantifiers_1 existential_there_quantifiers_2 superlative_quantifiers_1 "
        "superlative_quantifiers_2"
    ),
    ("subject_verb_agreement", "morphology"): (
        "distractor_agreement_relational_noun distractor_agreement_relative_clause "
        "irregular_plural_subject_verb_agreement_1 irregular_plural_subject_verb_agreement_2 "
        "regular_plural_subject_verb_agreement_1 regular_plural_subject_verb_agreement_2"
    ),
}

# paradigm -> (phenomenon, field)
BLIMP_PARADIGMS = {paradigm: labels for labels, names in _GROUPS.items() for paradigm in names.split()}
